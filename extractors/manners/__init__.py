"""How a guest behaves: asks robots.txt, waits its turn at every host, tries again only what may do later.

robots      what a site's robots.txt allows (RFC 9309)
pace        turns at a host: so many at once, so long apart, not before it wants to be asked again
retrying    which failures are worth another try, and when
manners     the three together, one object for all pages
"""

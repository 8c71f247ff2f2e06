"""What may leave this machine: every connection of the browser and of our own client passes here.

addresses   which addresses belong to the public internet
guard       what one page may reach (`Guard`), and what it did reach (`Passage`)
resolver    names -> addresses, each looked up once
dialer      addresses -> a connection, directly or through the user's proxy
proxy       the loopback proxy that Chromium and our client are held to
"""

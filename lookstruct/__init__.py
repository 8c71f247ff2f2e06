"""A web page in, a validated record out whose every value says where on the page it stands."""

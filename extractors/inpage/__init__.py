"""What runs inside the page: JavaScript, each file one part of it.

snapshot    the whole script that reads a rendered page, made of the four below
markup      elements -> HTML text
visibility  what can be seen
layout      in which order it is read
writer      the walk over the page
settled     the script that waits until the text rests
"""

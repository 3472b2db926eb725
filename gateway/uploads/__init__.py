"""Uploaded pictures: a signed address to send one to, its check, and its sizes.

- `addresses`: the addresses to send a picture to, and of stored pictures.
- `decoding`: decodes a picture within limits, and makes its sizes.
- `routes`: the routes of both.
- `receiving`: answers a PUT of a picture.
- `serving`: answers a GET of a stored picture.
"""

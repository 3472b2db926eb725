"""Uploaded pictures: a signed address to send one to, its check, and its sizes. Also the files with
users' own data, which are in the same store.

- `addresses`: the addresses to send a picture to, of stored pictures, and of users' data.
- `decoding`: decodes a picture within limits, and makes its sizes.
- `routes`: the routes of all.
- `receiving`: answers a PUT of a picture.
- `serving`: answers a GET of a stored picture.
- `exports`: answers a GET of a user's data.
"""

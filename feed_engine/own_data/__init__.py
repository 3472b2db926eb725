"""A user's own data: all that Pinway keeps about the user, for an operator or for the user.

- `account`: the account, in plain values.
- `parts`: the account, and all objects and rows of the user, in pages.
- `archive`: writes them to a ZIP file.
- `requests`: a user's request for the file, and the file's name and times.
- `making`: the tasks that make the file and remove it.
"""

# cython: language_level=3, boundscheck=False, wraparound=False
"""The objects of a subtree written as JSON, straight from their attributes.

What `subtrees` makes as dicts and orjson then writes, in one pass and without the dicts. Where a
value isn't as usual it raises, as the generated code does. The bytes are orjson's, to the last.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.long cimport PyLong_AsLongAndOverflow
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.string cimport memcpy

import orjson

cdef extern from *:
    """
    /* No way out of the loop, so that the compiler looks at many bytes at a time. */
    static inline int has_to_be_escaped(const unsigned char *text, Py_ssize_t size) {
        unsigned char found = 0;
        for (Py_ssize_t i = 0; i < size; i++)
            found |= (text[i] < 0x20) | (text[i] == '"') | (text[i] == '\\\\');
        return found;
    }
    """
    bint has_to_be_escaped(const unsigned char *text, Py_ssize_t size)
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    object PyObject_GetAttr(object owner, object name)
    PyObject *PyTuple_GET_ITEM(object items, Py_ssize_t i)

cdef object dumps = orjson.dumps
cdef object Fragment = orjson.Fragment
cdef enum: ATTRIBUTE, COLUMN, ONE, MANY
cdef enum: STRING, ID, INT, FLOAT, BOOLEAN, OTHER
cdef dict KINDS = {
    "String": STRING, "ID": ID, "Int": INT, "Float": FLOAT, "Boolean": BOOLEAN, "other": OTHER
}


class NotAsUsual(Exception):
    """A value that isn't what it has to be, or a column that is too short."""


cdef struct Text:
    char *data
    Py_ssize_t size
    Py_ssize_t room


cdef struct Column:
    Py_ssize_t count
    Py_ssize_t next  # of a column of objects: the row of the one that is written next


cdef class Form:
    """How the objects of one type at one place are written: told field by field, `end` last."""

    cdef int number  # the objects' column
    cdef int most  # the last column that is asked for
    cdef list parts
    cdef bytearray text
    cdef bytes last
    cdef Py_ssize_t room

    def __init__(self, int number):
        self.number, self.most, self.room = number, number, 256
        self.parts, self.text = [], bytearray(b"{")

    def key(self, str key):
        """The next field's."""
        if self.parts or len(self.text) > 1:
            self.text += b","
        self.text += dumps(key) + b":"

    def constant(self, value):
        self.text += dumps(value)

    def attribute(self, str name, str kind, bint nonnull, shown):
        """A leaf read from the object: one of KINDS; of any "other", `shown` says what is written
        for a value."""
        cdef Part part = self._add(ATTRIBUTE)
        part.name, part.kind, part.nonnull, part.shown = name, KINDS[kind], nonnull, shown

    def column(self, int number):
        """Values that are written as they are, one for each of the objects."""
        self._add(COLUMN).number = number
        self.most = max(self.most, number)

    def one(self, Form form, int number):
        """An object; where that column is there, null in the rows in which it is null."""
        cdef Part part = self._add(ONE)
        part.form, part.number = form, number
        self.most = max(self.most, number, form.most)

    def many(self, Form form, int number):
        """As many objects as the column says."""
        cdef Part part = self._add(MANY)
        part.form, part.number = form, number
        self.most = max(self.most, number, form.most)

    def end(self):
        self.last = bytes(self.text) + b"}"

    def write(self, list columns):
        """Each of the form's own objects, for orjson to take over. Raises whatever."""
        cdef Py_ssize_t n = len(columns), i
        cdef tuple rows = tuple([None if each is None else tuple(each) for each in columns])
        cdef list made = []
        cdef Text out
        cdef Column *state
        if n <= self.most:
            raise NotAsUsual
        state = <Column *> PyMem_Malloc(n * sizeof(Column))
        out.data = <char *> PyMem_Malloc(self.room)
        try:
            if state is NULL or out.data is NULL:
                raise MemoryError
            out.room = self.room
            for i in range(n):
                state[i].next = 0
                state[i].count = 0 if rows[i] is None else PyTuple_GET_SIZE(rows[i])
            for i in range(state[self.number].count):
                out.size = 0
                self.put(&out, rows, state)
                made.append(Fragment(PyBytes_FromStringAndSize(out.data, out.size)))
            self.room = min(out.room, 1 << 16)
        finally:
            PyMem_Free(out.data)
            PyMem_Free(state)
        return made

    cdef Part _add(self, int code):
        cdef Part part = Part()
        part.code, part.before = code, bytes(self.text)
        self.text = bytearray()
        self.parts.append(part)
        return part

    cdef int put(self, Text *out, tuple rows, Column *state) except -1:
        """The next object."""
        cdef Py_ssize_t row = state[self.number].next
        cdef Part part
        if row >= state[self.number].count:
            raise NotAsUsual
        state[self.number].next = row + 1
        owner = item(rows, self.number, row)
        for part in self.parts:
            put_bytes(out, part.before)
            if part.code == ATTRIBUTE:
                part.put_leaf(out, PyObject_GetAttr(owner, part.name))
            else:
                part.put_below(out, rows, state, row)
        return put_bytes(out, self.last)


cdef class Part:
    """One field, and the text before it."""

    cdef int code, kind, number
    cdef bint nonnull
    cdef bytes before
    cdef str name
    cdef object shown
    cdef Form form

    cdef int put_leaf(self, Text *out, value) except -1:
        cdef int overflow
        cdef long number
        if value is None and not self.nonnull:
            return put(out, "null", 4)
        if self.kind == STRING or self.kind == ID:
            if type(value) is str:
                return put_string(out, value)
            if self.kind == ID and type(value) is int:
                return put_string(out, str(value))
        elif self.kind == INT:
            if type(value) is int:
                number = PyLong_AsLongAndOverflow(value, &overflow)
                if not overflow and -(1 << 31) <= number < 1 << 31:
                    return put_int(out, number)
        elif self.kind == BOOLEAN:
            if type(value) is bool:
                return put_value(out, value)
        elif self.kind == FLOAT:
            if type(value) is float and <double> value - <double> value == 0.0:  # finite
                return put_value(out, value)
        else:
            return put_value(out, self.shown(value))
        raise NotAsUsual

    cdef int put_below(self, Text *out, tuple rows, Column *state, Py_ssize_t row) except -1:
        cdef Py_ssize_t i
        if self.code == ONE:
            if rows[self.number] is not None and item_of(rows, state, self.number, row) is None:
                return put(out, "null", 4)
            return self.form.put(out, rows, state)
        value = item_of(rows, state, self.number, row)
        if self.code == COLUMN:
            return put_value(out, value)
        put(out, "[", 1)
        for i in range(<Py_ssize_t> value):
            if i:
                put(out, ",", 1)
            self.form.put(out, rows, state)
        return put(out, "]", 1)


cdef inline object item(tuple rows, int number, Py_ssize_t row):
    return <object> PyTuple_GET_ITEM(<tuple> rows[number], row)


cdef inline object item_of(tuple rows, Column *state, int number, Py_ssize_t row):
    if row >= state[number].count:
        raise NotAsUsual
    return item(rows, number, row)


cdef int make_room(Text *out, Py_ssize_t size) except -1:
    cdef Py_ssize_t room
    cdef char *data
    if out.room - out.size < size:
        room = 2 * out.room + size
        data = <char *> PyMem_Realloc(out.data, room)
        if data is NULL:
            raise MemoryError
        out.data, out.room = data, room
    return 0


cdef inline int put(Text *out, const char *text, Py_ssize_t size) except -1:
    make_room(out, size)
    memcpy(out.data + out.size, text, size)
    out.size += size
    return 0


cdef inline int put_bytes(Text *out, bytes text) except -1:
    return put(out, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))


cdef int put_value(Text *out, value) except -1:
    """What stands in the response."""
    if type(value) is str:
        return put_string(out, value)
    if value is None:
        return put(out, "null", 4)
    if value is True:
        return put(out, "true", 4)
    if value is False:
        return put(out, "false", 5)
    return put_bytes(out, dumps(value))


cdef int put_string(Text *out, str value) except -1:
    cdef Py_ssize_t size
    cdef const char *text = PyUnicode_AsUTF8AndSize(value, &size)
    make_room(out, size + 2)
    out.data[out.size] = c'"'
    out.size += 1
    if has_to_be_escaped(<const unsigned char *> text, size):
        put_escaped(out, <const unsigned char *> text, size)
    else:
        memcpy(out.data + out.size, text, size)
        out.size += size
    return put(out, '"', 1)


cdef int put_escaped(Text *out, const unsigned char *text, Py_ssize_t size) except -1:
    cdef unsigned char c
    cdef char *at
    cdef Py_ssize_t i
    make_room(out, 6 * size)
    at = out.data + out.size
    for i in range(size):
        c = text[i]
        if c >= 0x20 and c != c'"' and c != c"\\":
            at[0] = c
            at += 1
            continue
        at[0] = c"\\"
        if c == c'"' or c == c"\\":
            at[1] = c
        elif c == 0x08:
            at[1] = c"b"
        elif c == 0x09:
            at[1] = c"t"
        elif c == 0x0A:
            at[1] = c"n"
        elif c == 0x0C:
            at[1] = c"f"
        elif c == 0x0D:
            at[1] = c"r"
        else:
            memcpy(at + 1, "u00", 3)
            at[4] = c"0" + (c >> 4)
            at[5] = b"0123456789abcdef"[c & 0x0F]
            at += 4
        at += 2
    out.size = at - out.data
    return 0


cdef int put_int(Text *out, long value) except -1:
    cdef char digits[20]
    cdef int at = 20
    cdef long rest = -value if value < 0 else value
    while True:
        at -= 1
        digits[at] = c"0" + rest % 10
        rest //= 10
        if not rest:
            break
    if value < 0:
        at -= 1
        digits[at] = c"-"
    return put(out, digits + at, 20 - at)

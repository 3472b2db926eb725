"""The text of a response while it is written: JSON as orjson writes it, to the last byte."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Realloc
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    /* Whether one of `blocks` times 16 bytes is to be escaped. No way out of the loop, so that the
       compiler looks at many at a time. */
    static inline int has_to_be_escaped(const unsigned char *text, Py_ssize_t blocks) {
        unsigned char found[16] = {0}, any = 0;
        for (; blocks; blocks--, text += 16)
            for (int i = 0; i < 16; i++)
                found[i] |= (text[i] < 0x20) | (text[i] == '"') | (text[i] == '\\\\');
        for (int i = 0; i < 16; i++)
            any |= found[i];
        return any;
    }

    static inline const char *utf8_of(PyObject *text, Py_ssize_t *size) {
        if (!PyUnicode_IS_COMPACT_ASCII(text))
            return PyUnicode_AsUTF8AndSize(text, size);
        *size = PyUnicode_GET_LENGTH(text);
        return (const char *)PyUnicode_1BYTE_DATA(text);
    }
    """
    bint has_to_be_escaped(const unsigned char *text, Py_ssize_t blocks) noexcept
    const char *utf8_of(object text, Py_ssize_t *size) except NULL

cdef struct Text:
    char *data
    Py_ssize_t size
    Py_ssize_t room


cdef inline int make_room(Text *out, Py_ssize_t size) except -1:
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


cdef inline int put_string(Text *out, str value) except -1:
    cdef Py_ssize_t size
    cdef const char *text = utf8_of(value, &size)
    cdef char *at
    make_room(out, size + 18)
    at = out.data + out.size
    at[0] = c'"'
    memcpy(at + 1, text, size)
    memset(at + 1 + size, c" ", 16)  # up to the last block's end
    if has_to_be_escaped(<const unsigned char *> at + 1, (size + 15) >> 4):
        return put_escaped(out, <const unsigned char *> text, size)
    at[1 + size] = c'"'
    out.size += size + 2
    return 0


cdef inline int put_escaped(Text *out, const unsigned char *text, Py_ssize_t size) except -1:
    cdef unsigned char c
    cdef char *at
    cdef Py_ssize_t i
    make_room(out, 6 * size + 2)
    at = out.data + out.size
    at[0] = c'"'
    at += 1
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
    at[0] = c'"'
    out.size = at + 1 - out.data
    return 0


cdef inline int put_int(Text *out, long value) except -1:
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

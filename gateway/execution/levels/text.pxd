"""A growing buffer for the JSON text of a response, with the same bytes as orjson writes."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Realloc
from libc.string cimport memcpy

cdef extern from *:
    """
    #include <stdint.h>

    /* Returns a word in which the highest bit of any byte is set if, and only if, a byte of the
       input must be escaped: it is less than a blank, a quote or a backslash. */
    static inline uint64_t escaped_of(uint64_t bytes) {
        const uint64_t ones = 0x0101010101010101;
        uint64_t quotes = bytes ^ (ones * '"'), slashes = bytes ^ (ones * '\\\\');
        return ((bytes - ones * ' ') & ~bytes) | ((quotes - ones) & ~quotes)
            | ((slashes - ones) & ~slashes);
    }

    /* Copies a text by words; the last word overlaps the word before. Returns whether no byte of the
       text must be escaped. */
    static inline int copied_plain(char *to, const char *text, Py_ssize_t size) {
        uint64_t word, found = 0;
        uint32_t first, last;
        if (size >= 8) {
            for (Py_ssize_t i = 0; i < size - 8; i += 8) {
                memcpy(&word, text + i, 8);
                memcpy(to + i, &word, 8);
                found |= escaped_of(word);
            }
            memcpy(&word, text + size - 8, 8);
            memcpy(to + size - 8, &word, 8);
            found |= escaped_of(word);
        } else if (size >= 4) {
            memcpy(&first, text, 4);
            memcpy(&last, text + size - 4, 4);
            memcpy(to, &first, 4);
            memcpy(to + size - 4, &last, 4);
            found = escaped_of(first | (uint64_t)last << 32);
        } else {
            word = 0x2020202020202020;
            for (Py_ssize_t i = 0; i < size; i++) {
                to[i] = text[i];
                word = word << 8 | (unsigned char)text[i];
            }
            found = escaped_of(word);
        }
        return (found & 0x8080808080808080) == 0;
    }

    static inline const char *utf8_of(PyObject *text, Py_ssize_t *size) {
        if (!PyUnicode_IS_COMPACT_ASCII(text))
            return PyUnicode_AsUTF8AndSize(text, size);
        *size = PyUnicode_GET_LENGTH(text);
        return (const char *)PyUnicode_1BYTE_DATA(text);
    }
    """
    bint copied_plain(char *to, const char *text, Py_ssize_t size) noexcept
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
    make_room(out, size + 2)
    at = out.data + out.size
    at[0] = c'"'
    if not copied_plain(at + 1, text, size):
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

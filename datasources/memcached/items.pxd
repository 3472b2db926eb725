cimport cython

cdef int _BLANK, _ZERO, _E, _DIGITS
cdef bytes _VALUE


@cython.locals(text='const unsigned char *', end=Py_ssize_t, key_ends=Py_ssize_t,
               flags_end=Py_ssize_t, size_ends=Py_ssize_t, flags='long long', size='long long',
               begin=Py_ssize_t)
cpdef tuple read_items(bytes buffer, Py_ssize_t at, dict items, Py_ssize_t answers)
cdef Py_ssize_t _blank(const unsigned char *text, Py_ssize_t at, Py_ssize_t end) noexcept
@cython.locals(found='long long', digit=int)
cdef long long _number(const unsigned char *text, Py_ssize_t at, Py_ssize_t end) noexcept
@cython.locals(found='long long')
cdef _large_number(bytes text, Py_ssize_t at, Py_ssize_t end)

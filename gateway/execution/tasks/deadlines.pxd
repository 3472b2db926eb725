cdef class Deadlines:
    cdef readonly object seconds, variable
    cdef readonly dict running
    cdef object _loop
    cdef bint _armed

    cpdef begin(self)
    cdef add(self, Deadline deadline, loop)


cdef class Deadline:
    cdef Deadlines _all
    cdef Py_ssize_t _cancelling
    cdef bint _expired
    cdef object _task, _token
    cdef readonly double ends

cimport cython

from gateway.execution.state cimport State


cdef class Spot:
    cdef public object form, leaves, selection
    cdef public bint leafy
    cdef public Py_ssize_t number
    cdef public list asked
    cdef public dict rows, shown


cdef class Shown:
    cdef public bint of_lists

    cdef void take(self, Attempt attempt, values) except *
    cpdef column(self, Attempt attempt)
    cpdef add_to(self, form, form_of)


cdef class Asked:
    cdef public object field
    cdef public Shown shown

    cdef void ask(self, Attempt attempt, objs) except *


cdef class Attempt:
    cdef public object place, subtree
    cdef public State run
    cdef public list columns
    cdef public set nulls
    cdef public dict given
    cdef public Py_ssize_t waits
    cdef object _ambient, _objs
    cdef list _found
    cdef Py_ssize_t _count
    cdef bint _over

    cpdef begin(self)
    @cython.locals(asked=Asked)
    cdef void ask(self, Spot spot, objs) except *
    cdef take(self, Asked asked, values)
    cpdef arrived(self, Asked asked, values)
    cpdef made(self, Spot spot)
    @cython.locals(below=Attempt, spot=Spot)
    cpdef is_usual(self, Asked asked, values)
    cpdef wanted(self)
    cpdef divide(self)
    cdef _go_on(self)
    @cython.locals(spot=Spot, found=list, count=Py_ssize_t)
    cdef _look(self)
    cdef _look_at(self, Spot spot)
    cdef _finish(self)
    cpdef give_up(self)
    cdef _give_up(self)

cimport cython

from gateway.execution.model.state cimport State
from gateway.execution.run.pending cimport FieldReceiver


cdef class ObjectNode:
    cdef public object writer, selection
    cdef public bint leafy
    cdef public Py_ssize_t number
    cdef public list fetches
    cdef public dict outputs


cdef class FieldOutput:
    cdef public bint of_lists

    cdef void take(self, Attempt attempt, values) except *
    cpdef add_to(self, writer, writer_of)


cdef class FieldFetch:
    cdef public object field
    cdef public FieldOutput output
    cdef public bint can_wait, has_fields_below

    cdef void ask(self, Attempt attempt, objs) except *


cdef class Attempt(FieldReceiver):
    cdef public object positions, subtree
    cdef public State run
    cdef public list columns
    cdef public dict given
    cdef public Py_ssize_t waits
    cdef object _resolver_context, _objs
    cdef list _found
    cdef Py_ssize_t _count
    cdef bint _over

    cpdef begin(self)
    @cython.locals(fetch=FieldFetch)
    cdef void ask(self, ObjectNode node, objs) except *
    cdef take(self, FieldFetch fetch, values)
    cpdef arrived(self, fetch, values)
    @cython.locals(below=Attempt, node=ObjectNode)
    cpdef is_usual(self, FieldFetch fetch, values)
    cpdef wanted(self)
    cpdef divide(self)
    cdef list _alive(self)
    cdef _go_on(self)
    @cython.locals(node=ObjectNode, found=list, count=Py_ssize_t)
    cdef _look(self)
    cdef _look_at(self, ObjectNode node)
    cdef _finish(self)
    cpdef give_up(self)
    cdef _give_up(self)

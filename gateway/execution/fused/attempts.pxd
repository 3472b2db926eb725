cimport cython

from gateway.execution.fused.json_writer cimport JsonWriter, Leaves
from gateway.execution.model.state cimport State
from gateway.execution.run.pending cimport FieldReceiver


cdef class ObjectNode:
    cdef public JsonWriter writer
    cdef public object selection
    cdef public Py_ssize_t number
    cdef public list fetches, leaves
    cdef public dict outputs


cdef class FieldOutput:
    cdef public bint of_lists

    cdef void take(self, Attempt attempt, values) except *
    cpdef accepts(self, values)
    cpdef take_part(self, Attempt attempt, values, indexes, Py_ssize_t total)
    cpdef add_to(self, writer, writer_of)


cdef class FieldFetch:
    cdef public object field
    cdef public FieldOutput output
    cdef public bint in_parts

    cdef void resolve(self, Attempt attempt, objs) except *


cdef class Attempt(FieldReceiver):
    cdef public object positions, subtree
    cdef public State run
    cdef public list columns
    cdef public dict resolved
    cdef public Py_ssize_t waits
    cdef object _resolver_context, _objs
    cdef Py_ssize_t _count
    cdef bint _over

    cpdef execute(self)
    @cython.locals(fetch=FieldFetch, leaves=Leaves)
    cdef void execute_selection(self, ObjectNode node, objs) except *
    cdef take(self, FieldFetch fetch, values)
    cpdef arrived(self, fetch, values)
    cpdef take_part(self, FieldFetch fetch, values, indexes, Py_ssize_t total)
    cpdef all_parts_taken(self)
    cpdef wanted(self)
    cpdef null_propagated(self)
    cdef list _alive(self)
    cdef _finish_if_complete(self)
    cdef _finish(self)
    cpdef give_up(self)
    cdef _give_up(self)

cimport cython

from gateway.execution.run.bulk_calls cimport start
from gateway.execution.fused.attempts cimport FieldFetch, Attempt, FieldOutput, ObjectNode
from gateway.execution.run.sources cimport Bulk
from gateway.execution.run.pending cimport PendingField
from gateway.execution.model.value_classes cimport classes_of


cdef class Values(FieldOutput):
    cdef object _leaf
    cdef bint _listed
    cdef Py_ssize_t _number

    cdef _usual(self, values)


cdef class Composed(FieldOutput):
    cdef object _completer, _is_of
    cdef Py_ssize_t _number
    cdef public ObjectNode node

    cdef void complete_objects(self, Attempt attempt, objs, set classes) except *
    cdef bint are_usual(self, objs, set classes) except -1


cdef class One(Composed):
    cdef void take(self, Attempt attempt, values) except *


cdef class Many(Composed):
    cdef void take(self, Attempt attempt, values) except *


cdef class Read(FieldFetch):
    cdef object _source


cdef class Bulked(FieldFetch):
    cdef Bulk _source

    @cython.locals(pending=PendingField)
    cdef void resolve(self, Attempt attempt, objs) except *


cdef tuple flattened(lists)
cdef split(items, list lengths)

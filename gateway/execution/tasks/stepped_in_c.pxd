from gateway.execution.tasks.column cimport Column
from loaders.key_futures cimport KeyFuture, Waiter


cdef class SteppedTask(Waiter):
    cdef public object _callbacks, _context, _coro, _fut_waiter, _loop, _result, waits
    cdef public Column sink
    cdef public Py_ssize_t index
    cdef public bint _must_cancel, done_, unwanted

    cpdef begin(self)
    cpdef bint makes_way(self)
    cpdef go_on(self)
    cdef go_on_after(self, future)
    cdef wait(self, waits)
    cdef ended(self, value)
    cdef failed(self)

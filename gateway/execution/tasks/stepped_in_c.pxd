from gateway.execution.tasks.column cimport Column
from loaders.key_futures cimport KeyFuture, Waiter


cdef class SteppedTask(Waiter):
    cdef public object _callbacks, _context, _coro, _fut_waiter, _loop, _result, waits
    cdef public Column sink
    cdef public Py_ssize_t index
    cdef public bint _must_cancel, done_, unwanted

    cpdef first_step(self)
    cpdef bint only_yielded(self)
    cpdef next_step(self)
    cdef step_after(self, future)
    cdef wait(self, waits)
    cdef ended(self, value)
    cdef failed(self)

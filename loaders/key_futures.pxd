cdef class Waiter:
    cdef int wake(self, KeyFuture future) except -1


cdef class KeyFuture:
    cdef public bint _asyncio_future_blocking
    cdef readonly object _loop
    cdef object value, traceback
    cdef Waiter waiter
    cdef list callbacks
    cdef int state

    cdef bint tell(self, Waiter waiter)
    cdef cancelled_error(self)
    cdef int settle(self, int state, value) except -1
    cdef schedule(self)
    cdef schedule_callbacks(self)

# cython: language_level=3
"""The compiled version of `single_keys`. Each caller gets a KeyFuture in place of an
asyncio.Future. One callback of the event loop wakes all compiled waiters (`Waiter`) of a batch."""

from asyncio import CancelledError, InvalidStateError
from contextvars import copy_context

from cpython.object cimport PyObject

cdef extern from *:
    """
    static void stop_with(PyObject *value) {
        if (!PyTuple_Check(value) && !PyExceptionInstance_Check(value)) {
            PyErr_SetObject(PyExc_StopIteration, value);
            return;
        }
        PyObject *stop = PyObject_CallOneArg(PyExc_StopIteration, value);
        if (stop == NULL) return;
        PyErr_SetObject(PyExc_StopIteration, stop);
        Py_DECREF(stop);
    }
    static void set_iternext(PyObject *type, PyObject *(*next)(PyObject *)) {
        ((PyTypeObject *) type)->tp_iternext = next;
        PyType_Modified((PyTypeObject *) type);
    }
    """
    ctypedef PyObject *(*Next "iternextfunc")(PyObject *)
    void stop_with(object value) noexcept
    void set_iternext(object type, Next next) noexcept
    void Py_INCREF(object o) noexcept

cdef enum: PENDING, VALUE, ERROR, CANCELLED


cdef class Waiter:
    """The base of compiled tasks, which a KeyFuture wakes without a callback of their own."""

    cdef int wake(self, KeyFuture future) except -1:
        """Continue: the future is done."""
        raise NotImplementedError


cdef class KeyFuture:
    """The future of one key, with the interface of asyncio.Future."""

    cdef bint tell(self, Waiter waiter):
        """Register the only waiter. Returns False, and registers nothing, if the future is done or
        has a waiter or callbacks already."""
        if self.state != PENDING or self.waiter is not None or self.callbacks is not None:
            return False
        self.waiter = waiter
        return True

    def done(self):
        return self.state != PENDING

    def cancelled(self):
        return self.state == CANCELLED

    def result(self):
        if self.state == VALUE:
            return self.value
        if self.state == ERROR:
            raise self.value.with_traceback(self.traceback)
        if self.state == CANCELLED:
            raise self.cancelled_error()
        raise InvalidStateError("Result is not set.")

    def exception(self):
        if self.state == CANCELLED:
            raise self.cancelled_error()
        if self.state == PENDING:
            raise InvalidStateError("Exception is not set.")
        return self.value if self.state == ERROR else None

    cdef cancelled_error(self):
        return CancelledError() if self.value is None else CancelledError(self.value)

    def set_result(self, value):
        self.settle(VALUE, value)
        self.schedule()

    def set_exception(self, error):
        self.settle(ERROR, error)
        self.schedule()

    def cancel(self, msg=None):
        if self.state != PENDING:
            return False
        self.settle(CANCELLED, msg)
        self.schedule()
        return True

    cdef int settle(self, int state, value) except -1:
        if self.state != PENDING:
            raise InvalidStateError("invalid state")
        if state == ERROR:
            if isinstance(value, StopIteration):  # would end the awaiting coroutine like a return
                value, cause = RuntimeError("StopIteration interacts badly with generators"), value
                value.__cause__ = cause
            self.traceback = value.__traceback__
        self.state, self.value = state, value
        return 0

    cdef schedule(self):
        if self.waiter is not None:
            self._loop.call_soon(wake_all, [self])
        self.schedule_callbacks()

    cdef schedule_callbacks(self):
        callbacks, self.callbacks = self.callbacks, None
        if callbacks is not None:
            for callback, context in callbacks:
                self._loop.call_soon(callback, self, context=context)

    def add_done_callback(self, callback, *, context=None):
        if context is None:
            context = copy_context()
        if self.state != PENDING:
            self._loop.call_soon(callback, self, context=context)
        elif self.callbacks is None:
            self.callbacks = [(callback, context)]
        else:
            self.callbacks.append((callback, context))

    def remove_done_callback(self, callback):
        before = self.callbacks or []
        kept = [entry for entry in before if entry[0] != callback]
        self.callbacks = kept or None
        return len(before) - len(kept)

    def get_loop(self):
        return self._loop

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        """Like `next_of`, which the interpreter calls. This method is for calls by name."""
        if self.state == PENDING:
            if self._asyncio_future_blocking:
                raise RuntimeError("await wasn't used with future")
            self._asyncio_future_blocking = True
            return self
        raise StopIteration(self.result())

    def send(self, value):
        return self.__next__()

    def throw(self, kind, value=None, traceback=None):
        """Raise an error at the await, as the iterator of asyncio's futures does."""
        error = kind if isinstance(kind, BaseException) else value
        if not isinstance(error, BaseException):
            error = kind() if error is None else kind(error)
        raise error if traceback is None else error.with_traceback(traceback)

    def close(self):
        pass

    def __repr__(self):
        return f"<KeyFuture {('pending', 'finished', 'finished', 'cancelled')[self.state]}>"


cdef PyObject *next_of(PyObject *future) except NULL:
    """The type's `tp_iternext`. To end with a value, a Cython `__next__` would raise StopIteration
    with a traceback; this function sets the exception without one, which is cheaper."""
    cdef KeyFuture self = <KeyFuture> future
    if self.state == VALUE:
        stop_with(self.value)
        return NULL
    if self.state == PENDING:
        if self._asyncio_future_blocking:
            raise RuntimeError("await wasn't used with future")
        self._asyncio_future_blocking = True
        Py_INCREF(self)
        return future
    self.result()
    return NULL


set_iternext(KeyFuture, <Next> next_of)


def wake_all(list futures):
    """Wake the compiled waiters of these futures."""
    cdef KeyFuture future
    cdef Waiter waiter
    for future in futures:
        waiter, future.waiter = future.waiter, None
        try:
            waiter.wake(future)
        except Exception as error:  # must not keep the other waiters from being woken
            future._loop.call_exception_handler(
                {"message": f"could not wake {waiter!r}", "exception": error, "future": future}
            )


cdef class SingleKeyBatch:
    cdef object loop
    cdef dict slots
    cdef list asked, pending
    cdef Py_ssize_t start

    def __init__(self, loop, dict slots, Py_ssize_t start):
        self.loop, self.slots, self.start = loop, slots, start
        self.asked, self.pending = [], []

    def ask(self, key):
        cdef Py_ssize_t new = self.start + len(self.asked), slot = self.slots.setdefault(key, new)
        cdef KeyFuture future
        if slot < self.start:
            return None
        future = KeyFuture.__new__(KeyFuture)
        future._loop = self.loop
        if slot == new:
            self.asked.append(key)
            self.pending.append(future)
        else:
            before = self.pending[slot - self.start]
            if type(before) is KeyFuture:
                self.pending[slot - self.start] = [before, future]
            else:
                (<list> before).append(future)
        return future

    def keys(self):
        return self.asked

    def futures(self):
        return [[each] if type(each) is KeyFuture else each for each in self.pending]

    def end(self, given):
        cdef list woken = []
        for asked, value in zip(self.pending, given, strict=True):
            if type(asked) is KeyFuture:
                self.settle(asked, value, woken)
            else:
                for future in <list> asked:
                    self.settle(future, value, woken)
        self.wake(woken)

    cdef settle(self, KeyFuture future, value, list woken):
        if future.state != PENDING:
            return
        future.settle(ERROR if isinstance(value, BaseException) else VALUE, value)
        if future.waiter is not None:
            woken.append(future)
        if future.callbacks is not None:
            self.wake(woken)
            future.schedule_callbacks()

    cdef wake(self, list woken):
        """Schedule one callback of the event loop that wakes the waiters of these futures."""
        if woken:
            self.loop.call_soon(wake_all, woken[:])
            woken.clear()


def assign_slots(dict slots, keys, Py_ssize_t start):
    cdef list found = [], new = []
    try:
        for key in keys:
            slot = slots.get(key)
            if slot is None:
                slots[key] = slot = start + len(new)
                new.append(key)
            found.append(slot)
    except BaseException:
        for key in new:
            del slots[key]
        raise
    return found, new

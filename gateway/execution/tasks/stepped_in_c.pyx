# cython: language_level=3
"""The compiled version of `stepped`. A step is a C call (`PyIter_Send`), and a coroutine ends without
a StopIteration exception."""

from asyncio import Future

from cpython.object cimport PyObject, PyObject_RichCompareBool, Py_NE

from gateway.execution.tasks.column cimport Column
from loaders.key_futures cimport KeyFuture, Waiter

from gateway.execution.tasks import current
from gateway.execution.tasks.frames import without_frame

cdef extern from *:
    """
    static PyObject *made(PyObject *made_of) {
        static PyObject *nothing = NULL;
        if (nothing == NULL && (nothing = PyTuple_New(0)) == NULL) return NULL;
        return ((PyTypeObject *) made_of)->tp_new((PyTypeObject *) made_of, nothing, NULL);
    }

    /* Like Context.run(coro.send, None). */
    static PySendResult step_inside(PyObject *context, PyObject *coro, PyObject **got) {
        PySendResult how;
        *got = NULL;
        if (PyContext_Enter(context)) return PYGEN_ERROR;
        how = PyIter_Send(coro, Py_None, got);
        if (PyContext_Exit(context)) {
            Py_CLEAR(*got);
            return PYGEN_ERROR;
        }
        return how;
    }

    static int raise_it(void) { return -1; }
    """
    ctypedef enum PySendResult:
        PYGEN_RETURN
        PYGEN_ERROR
        PYGEN_NEXT
    object PyContext_CopyCurrent()
    int PyContext_Enter(object context) except -1
    int PyContext_Exit(object context) except -1
    PySendResult PyIter_Send(object coro, object value, PyObject **got) noexcept
    PySendResult step_inside(object context, object coro, PyObject **got) noexcept
    int raise_it() except -1
    object made(object made_of)
    object owned "(PyObject *)"(PyObject *got)


cdef dict tasks = current.CURRENT
cdef object swap = current.enter


cdef inline int enter(loop, task) except -1:
    if tasks is None:
        swap(loop, task)
    else:
        tasks[loop] = task
    return 0


cdef inline int leave(loop) except -1:
    if tasks is None:
        swap(loop, None)
    else:
        tasks.pop(loop, None)
    return 0


cdef class SteppedTask(Waiter):
    def __init__(self, loop, coro, Column sink, Py_ssize_t index):
        self._loop, self._coro, self.sink, self.index = loop, coro, sink, index
        self._context = PyContext_CopyCurrent()

    cpdef first_step(self):
        cdef PyObject *got
        cdef PySendResult how
        enter(self._loop, self)
        how = step_inside(self._context, self._coro, &got)
        if how == PYGEN_NEXT:
            waits = owned(got)
            if waits is not None:
                self._begun(waits)
        elif how == PYGEN_RETURN:
            self._ended_at_once(owned(got))
        else:
            self.failed()

    cpdef bint only_yielded(self):
        return self.waits is None and not self.done_

    cpdef next_step(self):
        self.wake(None)

    cdef int wake(self, KeyFuture future) except -1:
        """Enter the coroutine's context, and continue like `_wakeup`."""
        PyContext_Enter(self._context)
        try:
            self.step_after(future)
        finally:
            PyContext_Exit(self._context)
        return 0

    def _wakeup(self, future):
        self.step_after(future)

    cdef step_after(self, future):
        cdef PyObject *got = NULL
        cdef PySendResult how
        self._fut_waiter = None
        if self._must_cancel:
            self._resume(self._cancelled_at(future))
            return
        loop = self._loop
        enter(loop, self)
        how = PyIter_Send(self._coro, None, &got)
        try:
            if how == PYGEN_RETURN:
                self.ended(owned(got))
            elif how == PYGEN_NEXT:
                self.wait(owned(got))
            else:
                self.failed()
        finally:
            leave(loop)

    cdef wait(self, waits):
        cdef KeyFuture future
        if not self._must_cancel:
            if type(waits) is KeyFuture:
                future = waits
                if future._loop is self._loop and future.tell(self):
                    future._asyncio_future_blocking = False
                    self._fut_waiter = future
                    return
            elif type(waits) is Future and waits._loop is self._loop:
                waits._asyncio_future_blocking = False
                waits.add_done_callback(self._wakeup, context=self._context)
                self._fut_waiter = waits
                return
        self._wait(waits)

    cdef ended(self, value):
        cdef Column sink = self.sink
        if self._must_cancel or self._callbacks is not None or self.unwanted:
            self._stopped(value)
            return
        self.done_ = True
        self._coro = None
        self._result = value
        if changed(self._context, sink.base):
            sink.keep_context(self)
        sink.left -= 1
        if not (sink.left and sink.indexes):
            sink.notify_run()
        sink.indexes.append(self.index)
        sink.values.append(value)

    cdef failed(self):
        """Handle the exception that the step raised."""
        try:
            raise_it()
        except BaseException as error:
            self._raised(without_frame(error))


def start_all(Column column, loop, coros, make):
    cdef Py_ssize_t i
    cdef PyObject *got
    cdef PySendResult how
    cdef SteppedTask task
    for i, coro in enumerate(coros):
        task = made(make)
        task._loop, task._coro, task.sink, task.index = loop, coro, column, i
        task._context = PyContext_CopyCurrent()
        enter(loop, task)
        how = step_inside(task._context, coro, &got)
        if how == PYGEN_NEXT:
            column.tasks.append(task)
            task.wait(owned(got))
        elif how == PYGEN_ERROR:
            task.failed()
        else:
            value = owned(got)
            if task._must_cancel:
                task._stopped(value)
            else:
                task.done_ = True
                if changed(task._context, column.base):
                    column.keep_context(task)
                column.indexes.append(i)
                column.values.append(value)


cdef bint changed(context, base):
    try:
        return PyObject_RichCompareBool(context, base, Py_NE)
    except Exception:  # raised by values that can't be compared
        return True

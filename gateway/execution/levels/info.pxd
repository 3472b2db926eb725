from gateway.execution.model.state cimport State

cpdef make_info(State run, field, positions, i)

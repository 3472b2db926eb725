cpdef set kinds_of(values)

from loaders.singles import Singles as Singles

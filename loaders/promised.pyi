from loaders.singles import Singles as Singles
from loaders.singles import place as place

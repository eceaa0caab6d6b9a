"""Jobs that everybody knows: Hadoop's examples and its tests of HDFS."""

from iostrata.workload.standard.hdfs import DFSIO, NNBENCH
from iostrata.workload.standard.tera import TERAGEN, TERASORT
from iostrata.workload.standard.text import GREP, RANDOMTEXT, SORT, WORDCOUNT

STANDARD = (TERAGEN, TERASORT, RANDOMTEXT, WORDCOUNT, SORT, GREP, DFSIO, NNBENCH)

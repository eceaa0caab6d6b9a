"""Jobs that everybody knows: Hadoop's examples, its tests of HDFS, the identity."""

from iostrata.workload.standard.hdfs import DFSIO, NNBENCH
from iostrata.workload.standard.tera import TERAGEN, TERASORT
from iostrata.workload.standard.text import GREP, IDENTITY, RANDOMTEXT, SORT, WORDCOUNT

STANDARD = (TERAGEN, TERASORT, RANDOMTEXT, WORDCOUNT, SORT, IDENTITY, GREP, DFSIO, NNBENCH)

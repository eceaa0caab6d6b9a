"""Jobs that everybody knows: Hadoop's examples, its tests of HDFS, the identity."""

from iostrata_lab.workload.standard.hdfs import DFSIO, NNBENCH
from iostrata_lab.workload.standard.tera import TERAGEN, TERASORT
from iostrata_lab.workload.standard.text import GREP, IDENTITY, RANDOMTEXT, SORT, WORDCOUNT

STANDARD = (TERAGEN, TERASORT, RANDOMTEXT, WORDCOUNT, SORT, IDENTITY, GREP, DFSIO, NNBENCH)

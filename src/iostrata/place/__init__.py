"""Where files of jobs are to lie: what jobs do with space and disks, and what follows from that."""

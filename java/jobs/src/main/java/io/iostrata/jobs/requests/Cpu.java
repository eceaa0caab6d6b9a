package io.iostrata.jobs.requests;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time in ns since it was made, of this process and of the thread that made it. */
final class Cpu {
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final long process = PROCESS.getProcessCpuTime();
  private final long thread = THREADS.getCurrentThreadCpuTime();

  long ofProcess() {
    return PROCESS.getProcessCpuTime() - process;
  }

  long ofThread() {
    return THREADS.getCurrentThreadCpuTime() - thread;
  }
}

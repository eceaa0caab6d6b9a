package io.iostrata.jobs.requests;

import java.util.SplittableRandom;

/** How often each operation is asked for. */
final class Mix {
  private static final Operation[] ALL = Operation.values();
  private final double[] shares;

  /** Weights of {@link Operation} in its order, of any sum above 0. */
  Mix(double[] weights) {
    double sum = 0;
    for (double weight : weights) {
      sum += weight;
    }
    shares = new double[ALL.length];
    for (Operation operation : ALL) {
      shares[operation.ordinal()] = weights[operation.ordinal()] / sum;
    }
  }

  double share(Operation operation) {
    return shares[operation.ordinal()];
  }

  Operation draw(SplittableRandom random) {
    double left = random.nextDouble();
    Operation last = null;
    for (Operation operation : ALL) {
      double share = share(operation);
      if (share > 0) {
        last = operation;
        left -= share;
        if (left < 0) {
          break;
        }
      }
    }
    return last;
  }
}

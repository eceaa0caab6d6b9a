/**
 * Replays planned jobs on a cluster: each reads, shuffles and writes as many bytes as it was asked
 * to, and computes nothing with them.
 */
package io.iostrata.jobs.swim;

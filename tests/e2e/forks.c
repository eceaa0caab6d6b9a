/* What Forks.java cannot do itself. */
#include <jni.h>
#include <sys/wait.h>
#include <unistd.h>

JNIEXPORT jint JNICALL Java_Forks_fork(JNIEnv *env, jclass forks) { return fork(); }

JNIEXPORT void JNICALL Java_Forks_end(JNIEnv *env, jclass forks, jint millis) {
  usleep(millis * 1000);
  _exit(0);
}

JNIEXPORT jint JNICALL Java_Forks_await(JNIEnv *env, jclass forks, jint pid) {
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

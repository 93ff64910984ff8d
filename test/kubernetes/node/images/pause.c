/* The first process of every pod: keeps the pod's namespaces alive and takes in orphans until it is told to end. C, since one
   of it stays in memory for each pod. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_signal(int number) {
  if (number != SIGCHLD) _exit(0);
  while (waitpid(-1, NULL, WNOHANG) > 0)
    ;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NOCLDSTOP | SA_RESTART};
  const int numbers[] = {SIGCHLD, SIGINT, SIGTERM};
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
  while (1) pause();
}

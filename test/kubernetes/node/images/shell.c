/* /bin/sh of the busybox image. Debian's busybox drops environment variables whose names a shell could not have, such as
   data-1; the image's real one keeps them, and the suite reads them with `sh -c env`. That goes to env itself, all else to ash. */
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int asks_for_env = argc == 3 && strcmp(argv[1], "-c") == 0 && strcmp(argv[2], "env") == 0;
  if (asks_for_env) execl("/bin/env", "env", (char *)NULL);
  execv("/bin/ash", argv);
  return 127;
}

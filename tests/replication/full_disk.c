/* Preloaded into a server, makes its disk full while the file that FULL_DISK names exists: a write
   that makes a file longer, or reserves room, fails as on a full disk. What a file has already can be
   written again. A server that waits a minute for room, in seconds, looks again soon. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int grows(int fd, off_t end)
{
    struct stat found;
    const char *flag = getenv("FULL_DISK");
    return flag != NULL && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && end > found.st_size
        && access(flag, F_OK) == 0;
}

static int refused(void)
{
    errno = ENOSPC;
    return -1;
}

ssize_t write(int fd, const void *data, size_t size)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "write");
    if (fd > 2) { /* the server's log still tells what happens */
        off_t at = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
        if (at >= 0 && grows(fd, at + (off_t)size))
            return refused();
    }
    return real(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "pwrite64");
    return grows(fd, at + (off_t)size) ? refused() : real(fd, data, size, at);
}

int fallocate64(int fd, int mode, off64_t at, off64_t size)
{
    static int (*real)(int, int, off64_t, off64_t);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "fallocate64");
    return grows(fd, at + size) ? refused() : real(fd, mode, at, size);
}

int posix_fallocate64(int fd, off64_t at, off64_t size)
{
    static int (*real)(int, off64_t, off64_t);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "posix_fallocate64");
    return grows(fd, at + size) ? ENOSPC : real(fd, at, size);
}

unsigned sleep(unsigned seconds)
{
    usleep(seconds * 10000);
    return 0;
}

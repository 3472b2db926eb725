/* Preloaded into a server, makes the disk of its logs full while the file that FULL_DISK names exists:
   a write that makes a file longer fails. Tables reserve their room before they write, so they still
   grow, unless the file that FULL_TABLES names exists: without room for them MariaDB 10.11 ends itself.
   A server that waits a minute for room looks again after a second. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define MINUTE 60

static int exists(const char *variable)
{
    const char *flag = getenv(variable);
    return flag != NULL && access(flag, F_OK) == 0;
}

static int grows(int fd, off_t end)
{
    struct stat found;
    return fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && end > found.st_size
        && exists("FULL_DISK");
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
    return exists("FULL_TABLES") ? refused() : real(fd, mode, at, size);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until)
{
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    struct timespec now, soon;
    clock_gettime(CLOCK_REALTIME, &now);
    time_t seconds = until->tv_sec - now.tv_sec;
    if (seconds < MINUTE - 1 || seconds > MINUTE + 1)
        return real(condition, mutex, until);
    soon = now;
    soon.tv_sec += 1;
    return real(condition, mutex, &soon);
}

/* A bare client that sends by the clock, without parsing, checking or recording more than the time of each reply.
 * usage: open_loop PORT RATE SECONDS plain|spin      (loopback only)
 * plain: one timed wait (epoll_pwait2) until the next send; spin: it wakes 100 us early and looks at the clock for the
 * rest. Sends go to the connection that became idle last. Prints: requests cpu_seconds p50_us p99_us of the time from
 * send to reply. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024, TIMES = 1 << 22, EARLY_NS = 100000 };
static struct { int fd; int64_t sent_ns; } conns[MOST];
static int idle[MOST], idles, opened, ep;
static struct sockaddr_in where;
static uint32_t times[TIMES];
static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
static char buffer[65536];

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int open_one(void) {
    if (opened == MOST) { fprintf(stderr, "all %d connections are busy\n", MOST); exit(1); }
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&where, sizeof where)) { perror("connect"); exit(1); }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event e = { .events = EPOLLIN, .data.u32 = opened };
    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
    conns[opened].fd = fd;
    return opened++;
}

static size_t wait_until(int64_t until_ns, size_t done) {
    struct epoll_event events[64];
    int64_t left_ns = until_ns - now_ns();
    struct timespec t = { 0 };
    if (left_ns > 0) t = (struct timespec){ left_ns / 1000000000, left_ns % 1000000000 };
    int n = epoll_pwait2(ep, events, 64, &t, NULL);
    for (int i = 0; i < n; i++) {
        int c = events[i].data.u32;
        if (recv(conns[c].fd, buffer, sizeof buffer, 0) <= 0) { fprintf(stderr, "the server has closed\n"); exit(1); }
        if (done < TIMES) times[done++] = now_ns() - conns[c].sent_ns;
        idle[idles++] = c;
    }
    return done;
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    where.sin_family = AF_INET;
    where.sin_port = htons(atoi(argv[1]));
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    double rate = atof(argv[2]);
    size_t most = rate * atof(argv[3]), done = 0;
    int early_ns = !strcmp(argv[4], "spin") ? EARLY_NS : 0;
    prctl(PR_SET_TIMERSLACK, 1);
    ep = epoll_create1(0);
    int64_t begin_ns = now_ns() + 10000000;
    for (size_t k = 0; k < most; k++) {
        int64_t due_ns = begin_ns + (int64_t)(k * 1e9 / rate);
        while (due_ns - early_ns > now_ns()) done = wait_until(due_ns - early_ns, done);
        while (due_ns > now_ns()) done = wait_until(0, done);
        int c = idles ? idle[--idles] : open_one();
        conns[c].sent_ns = now_ns();
        if (send(conns[c].fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0) { perror("send"); return 1; }
    }
    int64_t last_ns = now_ns() + 500000000;
    while (done < most && now_ns() < last_ns) done = wait_until(last_ns, done);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    qsort(times, done, sizeof *times, by_size);
    printf("%zu %.6f %.3f %.3f\n", done,
           used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
           done ? times[done / 2] / 1e3 : 0.0, done ? times[done * 99 / 100] / 1e3 : 0.0);
    return 0;
}

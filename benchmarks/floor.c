/* The floor: the least an epoll client can do, without parsing, checking or recording.
 * usage: floor PORT PATH CONNECTIONS SECONDS keep|close|reset      (loopback only; reset: close without a goodbye)
 * prints: requests seconds
 * It reads the length of the first reply and takes all others to be as long. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX = 1024, HEAD = 16384 };
struct conn { int fd, asked; long left; };
static struct conn conns[MAX];
static struct sockaddr_in where;
static char request[512], buffer[HEAD];
static int request_length, ep, closing, resetting;
static long reply_length;
static const struct linger at_once = { 1, 0 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void ask(struct conn *c) {
    c->left = reply_length;
    c->asked = send(c->fd, request, request_length, MSG_NOSIGNAL) == request_length;
    if (!c->asked && errno != EAGAIN) { perror("send"); exit(1); }
}

static void open_one(int i) {
    struct conn *c = &conns[i];
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (c->fd < 0) { perror("socket"); exit(1); }
    if (connect(c->fd, (struct sockaddr *)&where, sizeof where) && errno != EINPROGRESS) { perror("connect"); exit(1); }
    ask(c);
    /* Nearly always connected and asked by now; not when the kernel put the handshake off. */
    struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET | (c->asked ? 0 : EPOLLOUT), .data.u32 = i };
    epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e);
}

/* The length of a whole reply, from a blocking trial request. */
static long measure(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&where, sizeof where)) { perror("connect"); exit(1); }
    if (send(fd, request, request_length, 0) < 0) { perror("send"); exit(1); }
    long got = 0, want = 0, n;
    while ((n = recv(fd, buffer + (want ? 0 : got), want ? HEAD : HEAD - got - 1, 0)) > 0) {
        got += n;
        if (!want) {
            buffer[got] = 0;
            char *end = strstr(buffer, "\r\n\r\n"), *length = strcasestr(buffer, "content-length:");
            if (end && length) want = end + 4 - buffer + atol(length + 15);
        }
        if (want && got >= want) break;
    }
    close(fd);
    return want;
}

int main(int argc, char **argv) {
    if (argc != 6 || atoi(argv[3]) > MAX) return 2;
    where.sin_family = AF_INET;
    where.sin_port = htons(atoi(argv[1]));
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    resetting = !strcmp(argv[5], "reset");
    closing = resetting || !strcmp(argv[5], "close");
    request_length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", argv[2],
                              closing ? "Connection: close\r\n" : "");
    ep = epoll_create1(0);
    reply_length = measure();
    int n = atoi(argv[3]);
    long done = 0;
    double start = now(), end = start + atof(argv[4]);
    for (int i = 0; i < n; i++) open_one(i);
    struct epoll_event events[MAX];
    while (now() < end) {
        int k = epoll_wait(ep, events, MAX, 100);
        for (int j = 0; j < k; j++) {
            int i = events[j].data.u32;
            struct conn *c = &conns[i];
            if (!c->asked) ask(c);
            while (c->asked) {
                int drop = c->left != reply_length;
                long want = drop ? (c->left > 0 ? c->left : HEAD) : HEAD;
                long r = drop ? recv(c->fd, NULL, want, MSG_TRUNC) : recv(c->fd, buffer, want, 0);
                if (r < 0) break;
                c->left -= r;
                if (c->left <= 0 && !closing) { done++; ask(c); if (r < want) break; continue; }
                if (closing && (r == 0 || (r < want && events[j].events & EPOLLRDHUP))) {
                    done += c->left <= 0;
                    if (resetting) setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
                    close(c->fd);
                    open_one(i);
                    break;
                }
                if (r == 0) { fprintf(stderr, "closed by the server\n"); exit(1); }
                if (r < want) break;
            }
        }
    }
    printf("%ld %f\n", done, now() - start);
    return 0;
}

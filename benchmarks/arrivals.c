/* A null server that notes when requests arrive. usage: arrivals PORT FILE      (loopback only)
 * It answers each request, which must come in one packet, with a small fixed reply. When it gets SIGTERM it writes the
 * arrivals to FILE, ns, one a line. They are the kernel's stamps of the packets, not the moments at which this program
 * got to see them: on loopback a packet is stamped while it is sent. So they do not depend on how soon the server wakes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 22, EVENTS = 256 };
static uint64_t stamps[MOST];
static volatile sig_atomic_t over;
static void stop(int signal) { (void)signal; over = 1; }

/* The kernel's stamp of a packet; 0 when it gave none. */
static uint64_t stamp_of(struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS) continue;
        struct timespec t;
        memcpy(&t, CMSG_DATA(c), sizeof t);
        return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    static char buffer[65536], control[256];
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), ep = epoll_create1(0);
    struct sockaddr_in where = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(listener, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&where, sizeof where) || listen(listener, 4096)) { perror("bind"); return 1; }
    struct epoll_event e = { .events = EPOLLIN, .data.fd = listener }, events[EVENTS];
    epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e);
    struct sigaction action = { .sa_handler = stop };
    sigaction(SIGTERM, &action, NULL);
    size_t count = 0;
    while (!over) {
        int n = epoll_wait(ep, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                int new = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                if (new < 0) continue;
                setsockopt(new, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                struct epoll_event c = { .events = EPOLLIN, .data.fd = new };
                epoll_ctl(ep, EPOLL_CTL_ADD, new, &c);
                continue;
            }
            struct iovec part = { buffer, sizeof buffer };
            struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control };
            message.msg_controllen = sizeof control;
            ssize_t got = recvmsg(fd, &message, 0);
            if (got <= 0) { close(fd); continue; }
            uint64_t at_ns = stamp_of(&message);
            if (count < MOST && at_ns) stamps[count++] = at_ns;
            if (send(fd, reply, sizeof reply - 1, MSG_NOSIGNAL) < 0) close(fd);
        }
    }
    FILE *out = fopen(argv[2], "w");
    if (!out) { perror(argv[2]); return 1; }
    for (size_t i = 0; i < count; i++) fprintf(out, "%llu\n", (unsigned long long)stamps[i]);
    return fclose(out) != 0;
}

/* A POP3 server that does as little as can be: every mailbox holds the same MESSAGES ready-made messages at each login,
 * whatever was deleted before, and every command is answered from memory. It takes whole lines in any pieces, and
 * neither checks passwords nor times anything: the client is the limit.
 * usage: pop3_null MESSAGES BYTES      (loopback only; prints its port)
 * The messages carry Bakeoff's mark, so that its client takes them for mail of its own and deletes them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNS = 4096, LINE = 512, OUT = 1 << 20 };
struct conn { int used; char line[LINE]; };
static struct conn conns[CONNS];
static char out[OUT], **messages, *list;
static int count, out_used, *lengths, list_length;
static unsigned long logins;

static void add(const char *text, int length) {
    if (out_used + length > OUT) { fprintf(stderr, "too many commands at once\n"); exit(1); }
    memcpy(out + out_used, text, length);
    out_used += length;
}

static void say(const char *text) { add(text, strlen(text)); }

static void make(int bytes) {
    messages = calloc(count, sizeof *messages);
    lengths = calloc(count, sizeof *lengths);
    list = malloc(count * 32 + 16);
    list_length = sprintf(list, "+OK\r\n");
    for (int i = 0; i < count; i++) {
        char *at = messages[i] = malloc(bytes + 512);
        int head = sprintf(at, "+OK\r\nSubject: filling\r\nX-Bake-Id: ffffffffffffffff.0.0.%d\r\nX-Bake-SHA256: %064d\r\n\r\n", i, 0);
        int used = head;
        for (; used - 5 + 78 <= bytes; used += 78) {
            memset(at + used, 'x', 76);
            memcpy(at + used + 76, "\r\n", 2);
        }
        list_length += sprintf(list + list_length, "%d %d\r\n", i + 1, used - 5);
        lengths[i] = used + sprintf(at + used, ".\r\n");
    }
    list_length += sprintf(list + list_length, ".\r\n");
}

static void identities(void) {
    char text[64];
    say("+OK\r\n");
    for (int i = 0; i < count; i++) add(text, sprintf(text, "%d %016lx\r\n", i + 1, logins * count + i));
    say(".\r\n");
}

/* Answers one command; true for the last of a session. */
static int answer(const char *line) {
    int number = strlen(line) > 5 ? atoi(line + 5) : 0;
    if (!strncasecmp(line, "RETR", 4) && number > 0 && number <= count) add(messages[number - 1], lengths[number - 1]);
    else if (!strncasecmp(line, "CAPA", 4)) say("+OK\r\nUSER\r\nUIDL\r\nPIPELINING\r\n.\r\n");
    else if (!strncasecmp(line, "STAT", 4)) { char t[64]; add(t, sprintf(t, "+OK %d %d\r\n", count, count * lengths[0])); }
    else if (!strncasecmp(line, "LIST", 4)) add(list, list_length);
    else if (!strncasecmp(line, "UIDL", 4)) identities();
    else if (!strncasecmp(line, "PASS", 4)) { logins++; say("+OK\r\n"); }
    else say("+OK\r\n");
    return !strncasecmp(line, "QUIT", 4);
}

static int flush_to(int fd) {
    for (int sent = 0; sent < out_used;) {
        ssize_t n = send(fd, out + sent, out_used - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) continue; /* a reply is smaller than a socket's buffer: hardly ever */
        if (n < 0) return -1;
        sent += n;
    }
    return 0;
}

/* Reads what is there and answers each whole line; negative when the connection is over. */
static int serve(int fd) {
    struct conn *c = &conns[fd];
    for (;;) {
        ssize_t n = recv(fd, c->line + c->used, LINE - 1 - c->used, 0);
        if (n < 0) return errno == EAGAIN ? 0 : -1;
        if (n == 0) return -1;
        c->used += n;
        c->line[c->used] = 0;
        out_used = 0;
        char *start = c->line, *end;
        int over = 0;
        while (!over && (end = strstr(start, "\r\n"))) {
            *end = 0;
            over = answer(start);
            start = end + 2;
        }
        c->used -= start - c->line;
        memmove(c->line, start, c->used);
        if (c->used == LINE - 1 || flush_to(fd) || over) return -1;
    }
}

int main(int argc, char **argv) {
    count = argc > 2 ? atoi(argv[1]) : 0;
    if (count < 1 || count > 1000 || atoi(argv[2]) > 100000) { fprintf(stderr, "usage: pop3_null MESSAGES BYTES\n"); return 2; }
    make(atoi(argv[2]));
    int one = 1, door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), ep = epoll_create1(0);
    struct sockaddr_in where = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof where;
    if (bind(door, (struct sockaddr *)&where, size) || listen(door, 4096)) { perror("listen"); return 1; }
    getsockname(door, (struct sockaddr *)&where, &size);
    printf("%d\n", ntohs(where.sin_port));
    fflush(stdout);
    struct epoll_event e = { .events = EPOLLIN, .data.fd = door }, ready[256];
    epoll_ctl(ep, EPOLL_CTL_ADD, door, &e);
    for (;;) {
        int n = epoll_wait(ep, ready, 256, -1);
        for (int i = 0; i < n; i++) {
            int fd = ready[i].data.fd;
            if (fd != door) {
                if (serve(fd) < 0) close(fd);
                continue;
            }
            while ((fd = accept4(door, 0, 0, SOCK_NONBLOCK)) >= 0) {
                if (fd >= CONNS) { close(fd); continue; }
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                conns[fd].used = 0;
                e.events = EPOLLIN;
                e.data.fd = fd;
                epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
                send(fd, "+OK null\r\n", 10, MSG_NOSIGNAL);
            }
        }
    }
}

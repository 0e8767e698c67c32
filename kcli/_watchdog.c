/* A thread that ends the process when Python cannot: it reads signals from a pipe and needs no interpreter lock.
   See watchdog.py for what it promises. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define GRACE 300   /* ms that Python has after the last SIGINT, for its last words */
#define PATIENCE 1000 /* ms after SIGTERM or SIGHUP in which the event loop has to turn */
#define LATE 500      /* ms that we may hear of a signal later than the loop */
#define SHOW_CURSOR "\033[?25h"

static int source = -1;
static int loop = -1; /* what is written here wakes the event loop */
static atomic_int most = 2;     /* so many SIGINTs end the process */
static atomic_long turned_at = -1; /* ms: when the event loop last heard of a signal */
static char parting[256] = SHOW_CURSOR; /* what a terminal is told at the end */
static atomic_int parting_size = sizeof SHOW_CURSOR - 1;
static struct termios before;
static int has_terminal = 0;

static long now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000L + at.tv_nsec / 1000000L;
}

static void end(int code)
{
    ssize_t ignored = 0;
    if (has_terminal)
        tcsetattr(0, TCSANOW, &before);
    if (isatty(2))
        ignored = write(2, parting, (size_t)atomic_load(&parting_size));
    (void)ignored;
    _exit(code);
}

static void *watch(void *nothing)
{
    int interrupts = 0, code = 0;
    long due = -1, since = 0;
    int unless_turned = 0;
    for (;;) {
        unsigned char numbers[64];
        struct pollfd one = {source, POLLIN, 0};
        int wait = due < 0 ? -1 : (due > now() ? (int)(due - now()) : 0);
        int ready = poll(&one, 1, wait);
        if (due >= 0 && now() >= due) {
            if (!unless_turned || atomic_load(&turned_at) < since)
                end(code);
            due = -1;
        }
        if (ready <= 0)
            continue;
        ssize_t got = read(source, numbers, sizeof numbers);
        if (got <= 0)
            return nothing;
        ssize_t woken = write(loop, numbers, (size_t)got); /* a full pipe wakes it as well */
        (void)woken;
        for (ssize_t n = 0; n < got; n++) {
            if (numbers[n] == SIGINT && ++interrupts >= atomic_load(&most)) {
                if (due < 0 || unless_turned)
                    due = now() + GRACE;
                unless_turned = 0;
                code = 128 + SIGINT;
            } else if ((numbers[n] == SIGTERM || numbers[n] == SIGHUP) && due < 0) {
                due = now() + PATIENCE;
                unless_turned = 1;
                since = now() - LATE;
                code = 128 + numbers[n];
            }
        }
    }
}

static PyObject *start(PyObject *self, PyObject *args)
{
    pthread_t thread;
    sigset_t all, old;
    if (!PyArg_ParseTuple(args, "ii", &source, &loop))
        return NULL;
    has_terminal = isatty(0) && tcgetattr(0, &before) == 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the main thread */
    int failed = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed) {
        PyErr_SetString(PyExc_OSError, "no thread can be started");
        return NULL;
    }
    pthread_detach(thread);
    Py_RETURN_NONE;
}

static PyObject *turned(PyObject *self, PyObject *nothing)
{
    atomic_store(&turned_at, now());
    Py_RETURN_NONE;
}

static PyObject *heed(PyObject *self, PyObject *args)
{
    int wanted;
    if (!PyArg_ParseTuple(args, "i", &wanted))
        return NULL;
    atomic_store(&most, wanted);
    Py_RETURN_NONE;
}

static PyObject *part(PyObject *self, PyObject *args)
{
    const char *words;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#", &words, &size))
        return NULL;
    if (size > (Py_ssize_t)sizeof parting) {
        PyErr_SetString(PyExc_ValueError, "the words for the end are too long");
        return NULL;
    }
    atomic_store(&parting_size, 0);
    memcpy(parting, words, (size_t)size);
    atomic_store(&parting_size, (int)size);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start", start, METH_VARARGS, "start(source, loop): watch the signals that come from one pipe, pass them on to another"},
    {"turned", turned, METH_NOARGS, "turned(): the event loop heard of a signal"},
    {"heed", heed, METH_VARARGS, "heed(n): so many SIGINTs end the process"},
    {"part", part, METH_VARARGS, "part(words): what a terminal is told when the process is ended"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_watchdog", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__watchdog(void)
{
    return PyModule_Create(&module);
}

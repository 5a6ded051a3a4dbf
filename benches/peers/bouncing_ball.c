/* A bouncing ball written by hand behind an FMI 2.0 doStep, as FMU examples do it: explicit Euler, the sign of the
   height as event, no contact law. And a doStep that does nothing. The yardsticks of do_step.rs. */
#include <math.h>
#include <stdlib.h>

typedef struct {
    double time, height, velocity, gravity, restitution, minimum_speed, step;
    long steps;
    int state;
} Ball;

enum { instantiated = 1, initialization = 2, step_mode = 4 };

void *ball_instantiate(void) {
    Ball *ball = calloc(1, sizeof *ball);
    if (ball) {
        ball->height = 1.0;
        ball->gravity = -9.81;
        ball->restitution = 0.7;
        ball->minimum_speed = 0.1;
        ball->step = 1e-3;
        ball->state = step_mode;
    }
    return ball;
}

void ball_free(void *component) { free(component); }

/* As many internal steps as reach the next communication point, each with its event check. */
int ball_do_step(void *component, double point, double size, int no_set_state) {
    Ball *ball = component;
    (void)no_set_state;
    if (!ball || !(ball->state & step_mode) || size <= 0 || fabs(point - ball->time) > 1e-6) return 3;
    double next = point + size, epsilon = (1.0 + fabs(ball->time)) * 1e-12;
    while (ball->time + ball->step < next + epsilon) {
        double derivatives[2] = {ball->velocity, ball->gravity};
        double before = ball->height;
        ball->height += ball->step * derivatives[0];
        ball->velocity += ball->step * derivatives[1];
        ball->time = ++ball->steps * ball->step;
        if (ball->height <= 0 && before > 0) {
            ball->height = 1e-14;
            ball->velocity *= -ball->restitution;
            if (ball->velocity < ball->minimum_speed) {
                ball->velocity = 0;
                ball->gravity = 0;
            }
        }
    }
    return 0;
}

int empty_do_step(void *component, double point, double size, int no_set_state) {
    (void)point, (void)size, (void)no_set_state;
    return component ? 0 : 3;
}

/* base/agree.h: is a float what it should be? One text for the check of measured kernels and for
 * the main of emitted files, which carries it as C. */
#ifndef AT_AGREE_H
#define AT_AGREE_H

/* limit: how far it may be off (schedule.h: at_compute_limits_c); 0: not at all, but -0 is 0. What
 * should be infinite or not a number must be just that, unless its limit is infinite; where that is
 * the largest float, it may be either of the two. */
#define AT_AGREES                                                                                  \
    static inline int at_agrees(float got, float want, float limit) {                              \
        double off = (double)got - (double)want;                                                   \
        return got == want || (off <= limit && -off <= limit) || (got != got && want != want) ||   \
               limit > 3.4028235e38f || (limit >= 3.4028235e38f && !(got - got == 0));             \
    }

#define AT_TEXT_OF_TOKENS(...) #__VA_ARGS__
#define AT_TEXT_OF(...) AT_TEXT_OF_TOKENS(__VA_ARGS__)

#endif

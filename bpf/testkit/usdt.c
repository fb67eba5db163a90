/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usdt: a program with the USDT probe inspan:step, for tests of the bridge's loader. It prints "ready". For each line of input, if the
 * probe's semaphore shows that a tracer is attached, it fires the probe with the number of the line and its negative. It prints 1 if it
 * fired the probe, else 0. The probe is written as in systemtap's sys/sdt.h, which need not be installed.
 */
#include <stdio.h>

__attribute__((section(".probes"), used)) unsigned short inspan_step_semaphore;

static void step(long first, long second)
{
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt, \"\", \"note\"\n"
			 ".balign 4\n"
			 ".4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n"
			 "993: .8byte 990b\n"
			 ".8byte _.stapsdt.base\n"
			 ".8byte inspan_step_semaphore\n"
			 ".asciz \"inspan\"\n"
			 ".asciz \"step\"\n"
			 ".asciz \"-8@%0 -8@%1\"\n"
			 "994: .balign 4\n"
			 ".popsection\n"
			 ".ifndef _.stapsdt.base\n"
			 ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
			 ".weak _.stapsdt.base\n"
			 ".hidden _.stapsdt.base\n"
			 "_.stapsdt.base: .space 1\n"
			 ".size _.stapsdt.base, 1\n"
			 ".popsection\n"
			 ".endif\n"
			 :
			 : "r"(first), "r"(second));
}

int main(void)
{
	long number = 0;
	char line[16];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		number++;
		if (*(volatile unsigned short *)&inspan_step_semaphore)
			step(number, -number);
		printf("%d\n", inspan_step_semaphore != 0);
		fflush(stdout);
	}
	return 0;
}

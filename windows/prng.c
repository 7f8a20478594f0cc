/* The one function that Go programs want of bcryptprimitives.dll, for versions of Wine that lack it. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length); /* RtlGenRandom, of advapi32.dll */

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *buffer, SIZE_T length)
{
	return SystemFunction036(buffer, (ULONG)length);
}

package threadlet

// What tests need to know of the package.

const MostIdle = mostIdle

// The modules of d3 that index.html loads.
declare const d3: any;

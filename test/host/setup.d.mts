/** A step that cannot go on; the message says what a person has to do. */
export declare class SetupError extends Error {}
/** Absolute path of the clone. */
export declare const repository: string;
/** Sets up what is missing. Throws {@link SetupError} when a person has to install something first. */
export declare function setUp(options: { readonly browser: 'always' | 'unless desktop' }): void;
/** The desktop VS Code's command, when there is one and a screen to open it on. */
export declare function findDesktopCode(): string | undefined;
/** A browser that Playwright can drive: `CHROMIUM_PATH`, else the first one found. */
export declare function findChromium(): string | undefined;
/** Installs the packages of `test/bench/others`, unless they are there. Throws {@link SetupError}. */
export declare function installOtherProxies(): void;

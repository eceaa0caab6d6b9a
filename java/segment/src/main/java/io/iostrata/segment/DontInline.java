package io.iostrata.segment;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The JIT compiles the method once and calls it, instead of once more into each method that calls
 * it: woven methods stay as small as they were, for whoever calls them, and a step of ours that is
 * compiled anew takes none with it that calls it.
 *
 * <p>In the jar this is the JVM's own {@code jdk.internal.vm.annotation.DontInline}, which JDK 9
 * and later heed in classes of the bootstrap loader, as ours are; see the agent's pom.xml.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface DontInline {}

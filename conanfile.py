"""nax for Conan: `conan create .`; the option `compiled` adds the engine to the headers."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class Nax(ConanFile):
    name = "nax"
    description = "NumPy, autodiff and JAX's combinators in header-only C++20"
    license = "Apache-2.0"
    topics = ("automatic-differentiation", "numpy", "jax", "arrays", "header-only")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    # kernels: the library's for AVX2 and AVX-512, too, of which programs choose when they start
    # system_eigen: the one that CMake finds on the machine, in place of Conan's
    options = {"compiled": [True, False], "kernels": [True, False], "system_eigen": [True, False]}
    default_options = {"compiled": False, "kernels": False, "system_eigen": False}
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*"
    generators = "CMakeDeps"

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include/nax/core/version.hpp"))
        self.version = ".".join(re.findall(r"#define NAX_VERSION_[A-Z]+ (\d+)", text))

    def requirements(self):
        if not self.options.system_eigen:
            self.requires("eigen/[>=3.4.0 <6]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.options.kernels and not (self.options.compiled and self.settings.os == "Linux" and self.settings.arch == "x86_64"):
            raise ConanInvalidConfiguration("kernels=True needs compiled=True, Linux and x86_64")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"NAX_BUILD_{part}"] = False
        toolchain.cache_variables["NAX_BUILD_ENGINE"] = bool(self.options.compiled)
        toolchain.cache_variables["NAX_NATIVE"] = False
        if self.options.kernels:
            toolchain.cache_variables["NAX_KERNELS_FOR"] = "x86-64-v3;x86-64-v4"
        toolchain.cache_variables["NAX_INSTALL"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def package_info(self):
        # The package's own CMake files know all targets.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/nax"]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = ["lib"] if self.options.compiled else []

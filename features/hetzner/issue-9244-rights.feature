# https://github.com/kubernetes/autoscaler/issues/9244, for Hetzner also https://github.com/vitobotta/hetzner-k3s/issues/794

@cluster-autoscaler @hetzner @issue-9244
Feature: An upgrade scales with the rights that the last release had

  The example of Cluster Autoscaler for Hetzner grants nothing on the API group
  resource.k8s.io, which releases before 1.35 did not ask for.

  Background:
    Given a cluster
    And a Hetzner Cloud project
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-9244-rights-without-resource-claims
  Scenario: Rights as the example has them
    Given Cluster Autoscaler without rights on the API group "resource.k8s.io"
    When a pod "web" that requests 1 CPU is created
    Then at least 1 server of the group "pool1" is created within 15m
    And the pod "web" is Running within 5m

# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2336, first in v1.6.0.

@karpenter @issue-2323
Feature: Karpenter may name the owners of what it creates

  A distribution such as OpenShift lets only those name an object as an owner that holds its deletion who may set
  finalizers on it.

  @karpenter-2323-owner-references
  Scenario: The API server checks who may set finalizers on the owner of a NodeClaim
    Given a cluster with the admission plugin "OwnerReferencesPermissionEnforcement"
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 2m

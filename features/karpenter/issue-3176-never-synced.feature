# https://github.com/kubernetes-sigs/karpenter/issues/3176

@karpenter @issue-3176
Feature: Karpenter does not wait for a NodeClaim that is gone

  @karpenter-3176-never-synced
  Scenario: A NodeClaim is deleted before Karpenter has the answer to its creation
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the first call "create nodeclaims.karpenter.sh" of the program "karpenter" is carried out, but its response is held back for 10s
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    And "NodeClaim/$name" is deleted once "karpenter" has sent "create" of "nodeclaims"
    Then the pod "web" is Running within 6m

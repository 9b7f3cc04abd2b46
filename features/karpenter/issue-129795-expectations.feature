# https://github.com/kubernetes/kubernetes/issues/129795. The gate is on by default since v1.36.

@karpenter @issue-129795
Feature: A ReplicaSet has as many pods as it asks for, however late its controller hears of them

  @karpenter-129795-expectations
  Scenario: The controller's watch of pods is silent for longer than its expectations last
    Given a cluster whose kube-controller-manager has the feature gate "StaleControllerConsistencyReplicaSet=false"
    And a Ready Node "system" for system pods only
    And Karpenter with a NodePool "default"
    When every call "watch pods" of the program "kube-controller-manager" delivers nothing for 8m, for 8m
    And a Deployment "web" of 2 pods that request 3 CPU is created
    And the scenario waits for 6m
    And "Deployment/web" is annotated "example.com/reviewed=yes"
    Then 5m from now, exactly 2 NodeClaims have been created since the start
    And a pod of the Deployment "web" is Running within 1m

  # The same with all as released.
  @karpenter-129795-protected
  Scenario: The controller waits for what it has written itself
    Given a cluster
    And a Ready Node "system" for system pods only
    And Karpenter with a NodePool "default"
    When every call "watch pods" of the program "kube-controller-manager" delivers nothing for 8m, for 8m
    And a Deployment "web" of 2 pods that request 3 CPU is created
    And the scenario waits for 6m
    And "Deployment/web" is annotated "example.com/reviewed=yes"
    Then 5m from now, exactly 2 NodeClaims have been created since the start
    And a pod of the Deployment "web" is Running within 1m

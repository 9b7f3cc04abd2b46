# What https://github.com/kubernetes-sigs/karpenter/pull/2265 left out, first in v1.7.0.

@karpenter @issue-2265
Feature: A machine that reboots while it starts is still the machine the pod waits for

  A Node that is not heard of is tainted node.kubernetes.io/unreachable:NoExecute. Until it is
  initialized that is no reason to launch another machine: it goes as soon as the kubelet is back.

  @karpenter-2265-unreachable
  Scenario: The kubelet is down for two minutes before its Node has been Ready
    Given a cluster without the admission plugin DefaultTolerationSeconds
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 4m later
    And Karpenter with a NodePool "default"
    And the first new simulated node has its kubelet restarted, which is down for 2m and reports Ready 10s later, from 10s on
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then 6m from now, exactly 1 NodeClaim has been created since the start
    And a pod of the Deployment "web" is Running within 6m
